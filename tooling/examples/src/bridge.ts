import { parseArgs } from 'node:util'
import { bridge } from '@x/gateway/node'

// node bridge.js --to-stdio https://mcp.example.com/mcp
// node bridge.js --to-http 3000 -- npx -y some-server
async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { 'to-stdio': { type: 'string' }, 'to-http': { type: 'string' } },
    allowPositionals: true,
  })
  const [command, ...args] = positionals
  const { 'to-stdio': toStdio, 'to-http': toHttp } = values
  if (toStdio !== undefined) await bridge({ toStdio })
  else if (toHttp !== undefined && command !== undefined) {
    const { url } = await bridge({ toHttp: Number(toHttp), command, args })
    process.stderr.write(`The server is at ${url}\n`)
  } else throw new TypeError('Usage: bridge --to-stdio URL, or bridge --to-http PORT -- command arguments')
}

void run()
