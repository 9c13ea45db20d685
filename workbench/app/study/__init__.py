"""The Study mode: a declared matrix while it is executed, and what it says once it is. Side by side is :mod:`workbench.app.compare`."""
