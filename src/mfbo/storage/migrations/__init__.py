"""How a store's tables came to be, step by step; run by ``mfbo.storage.schema``."""
