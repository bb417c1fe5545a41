"""One job from table to audited release: binds a policy to a schema, decides, writes, audits, publishes."""
