import sys

sys.exit("\033[2Jno \007 cards\r\nI lost my \033[31mglasses")
