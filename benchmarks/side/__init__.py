"""Five toolkits side by side: adapters, measurement, page and charts of `side_by_side.py`."""
