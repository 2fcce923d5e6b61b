"""What a measurement on a running node is made of: a robot on ROS topics, an echo node as the floor, a receiver that
works on bytes, the machine's load, and what is concluded from them."""
