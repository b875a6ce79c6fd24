"""The wiki as a folder of web pages: opens from disk and from any static host, and asks nothing of the network."""
