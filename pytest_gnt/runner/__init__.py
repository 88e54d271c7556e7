"""The plugin's own machinery, kept apart from its hooks: settings of a session, items, providers, records."""
