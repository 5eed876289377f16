"""What tools/soak is made of: services and their load, a debugger, events, and looks at what is
left behind.
"""
