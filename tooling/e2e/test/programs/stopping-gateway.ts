import { gateway, proxy } from '@x/gateway'
import { bridge } from '@x/gateway/node'
import { connectAny } from '@x/legacy/client'
import { createServer, sealedState, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { serveStdio } from '@x/transport-stdio'
import { z } from 'zod'

const [mode] = process.argv.slice(2)

/** Starts itself as the upstream. Unless the gateway is hasty, its running calls have a minute after a signal. */
const command = { command: process.execPath, args: [process.argv[1] ?? '', mode === 'hasty' ? '100' : '60000'] }
const upstream = { connect: () => connectAny(command, { stdio: { stderr: 'inherit' } }) }
const options = { name: 'company', version: '1.0.0' }
const state = sealedState({ keys: ['6d1f3c0a9be84725d0a1c7f2385e6b94fa07d3c85b1e624979c2ad10e8f3465b'] })
const stopOnSignals = { noticeMs: 300, graceMs: 5000 }

/** A call of `wait` runs until the address answers. */
function serveUpstream(): void {
  const wait = tool('wait', {
    description: 'Waits',
    input: z.object({ url: z.string() }),
    run: async ({ url }, ctx) => {
      ctx.progress(1)
      return (await fetch(url)).text()
    },
  })
  const ping = tool('ping', { description: 'Answers', run: () => 'pong' })
  serveStdio(createServer({ name: 'upstream', version: '1.0.0', tools: [wait, ping] }), { graceMs: Number(mode) })
}

if (Number(mode) > 0) serveUpstream()
else if (mode === 'stdio') serveStdio(proxy(upstream, options))
else void serveOverHttp()

async function serveOverHttp(): Promise<void> {
  const { url } = await startServer()
  process.stdout.write(`${url}\n`)
}

function startServer(): Promise<{ readonly url: string | undefined }> {
  if (mode === 'bridge') return bridge({ toHttp: 0, ...command })
  const server =
    mode === 'gateway' ? gateway({ ...options, state, upstreams: { up: upstream } }) : proxy(upstream, options)
  return serveHttp(server, { port: 0, stopOnSignals: mode === 'hasty' ? { graceMs: 100 } : stopOnSignals })
}
