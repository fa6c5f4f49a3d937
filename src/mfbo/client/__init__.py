"""The client: studies that a service keeps, used like studies of one's own."""
