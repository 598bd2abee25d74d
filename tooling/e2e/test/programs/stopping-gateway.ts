import { gateway, proxy } from '@x/gateway'
import { connectAny } from '@x/legacy/client'
import { createServer, sealedState, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { serveStdio } from '@x/transport-stdio'

const [mode] = process.argv.slice(2)

/** Starts itself as the upstream. */
const upstream = {
  connect: () =>
    connectAny({ command: process.execPath, args: [process.argv[1] ?? ''] }, { stdio: { stderr: 'inherit' } }),
}
const options = { name: 'company', version: '1.0.0' }
const state = sealedState({ keys: ['6d1f3c0a9be84725d0a1c7f2385e6b94fa07d3c85b1e624979c2ad10e8f3465b'] })
const stopOnSignals = { noticeMs: 500, graceMs: 5000 }

/** A call of `wait` runs until a call of `release`. */
function serveUpstream(): void {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const run = async (): Promise<string> => {
    await released
    return 'released'
  }
  const tools = [
    tool('wait', { description: 'Waits', run }),
    tool('release', { description: 'Releases', run: () => (release(), 'released') }),
  ]
  serveStdio(createServer({ name: 'upstream', version: '1.0.0', tools }))
}

if (mode === undefined) serveUpstream()
else if (mode === 'stdio') serveStdio(proxy(upstream, options))
else void serveOverHttp()

async function serveOverHttp(): Promise<void> {
  const server =
    mode === 'gateway' ? gateway({ ...options, state, upstreams: { up: upstream } }) : proxy(upstream, options)
  const { url } = await serveHttp(server, { port: 0, stopOnSignals })
  process.stdout.write(`${url}\n`)
}
