import { bridge } from '@x/gateway/node'

// our-bridge-server.js to-stdio URL
// our-bridge-server.js to-http PORT command arguments
const [direction, target = '', command = '', ...args] = process.argv.slice(2)
await bridge(direction === 'to-stdio' ? { toStdio: target } : { toHttp: Number(target), command, args })
