cat orders.txt
