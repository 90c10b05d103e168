// The properties of a node or relationship `record` that kgagent wrote, and its ledger, as [name, value].
[name IN record.kgagent_adopted + ['kgagent_adopted', 'kgagent_adopted_hashes'] WHERE record[name] IS NOT NULL | [name, record[name]]]
