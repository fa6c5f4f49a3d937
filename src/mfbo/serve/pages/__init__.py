"""The pages: what operators see of their studies in a browser."""

from mfbo.serve.pages.routes import error_page, router

__all__ = ["error_page", "router"]
