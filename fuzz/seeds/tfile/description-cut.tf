TRACE0
R 4
status 0;tnotrun:0
tp T1:10:E:0