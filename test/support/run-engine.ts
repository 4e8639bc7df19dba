import { startEngine } from './engine.ts';

const [path = '', port] = process.argv.slice(2);
const engine = await startEngine({ path, port: Number(port) });
console.log(engine.port);
