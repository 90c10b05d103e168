// Whether the free types of a relationship `r` may list one of `wanted.types`, as `plain_text` of `kgagent.names` gives them.
any(plain IN [«_plain_types»] WHERE any(type IN wanted.types WHERE plain CONTAINS type))
