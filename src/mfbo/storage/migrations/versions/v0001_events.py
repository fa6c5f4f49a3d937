"""The first schema: studies, and the log of their events."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "studies",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("uid", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("created", sa.Double, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("events", sa.Integer, nullable=False),
        sa.Column("rounds", sa.Integer, nullable=False),
        sa.Column("ended", sa.Integer, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
    )
    op.create_table(
        "events",
        sa.Column("study", sa.Integer, sa.ForeignKey("studies.id"), primary_key=True),
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("step", sa.Integer, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("checksum", sa.Text, nullable=False),
        sa.UniqueConstraint("study", "number", "step"),
    )
