"""The projects in these folders are inputs; their tests are not ours."""

collect_ignore_glob = ["*/*"]
