/** Stands for all processors; none of them has anything to do. Prints the port it serves on. */
import { createServer } from 'node:http';

const server = createServer((_, answer) => answer.end('process_start_time_seconds 1\n'));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' && address !== null ? address.port : 0);
});
