import { connect } from 'node:net';
const socket = connect(process.argv[2]);
socket.write('{"protocol":1,"version":"0.1.0","mode":"mcp"}\n');
socket.once('data', (first) => {
  process.stdout.write(first.subarray(first.indexOf(10) + 1));
  socket.pipe(process.stdout);
});
process.stdin.pipe(socket);
socket.on('close', () => process.exit());
