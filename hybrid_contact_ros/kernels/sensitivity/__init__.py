"""How outcomes vary: the words of clusters of touchdowns, with their maps and Gaussian measures."""
