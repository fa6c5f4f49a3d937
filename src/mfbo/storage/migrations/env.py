"""What alembic runs: the migrations on the connection, and inside the transaction, that ``schema`` opened."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=False)
context.run_migrations()
