"""The service: one storage's studies over HTTP, for programs (`/api/v1`) and for people (the pages)."""
