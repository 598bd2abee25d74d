import { writeSync } from 'node:fs'
import { createServer, type McpServer, tool } from '@x/server'
import { serveStdio } from '@x/transport-stdio'
import * as z from 'zod'

/** Writes a line that a test can read on stderr, even if stdout is redirected. */
function say(text: string): void {
  writeSync(2, `${text}\n`)
}

const tools = [
  tool('echo', { description: 'Says it again', input: z.object({ text: z.string() }), run: ({ text }) => text }),
  tool('pid', { description: 'Names the process', run: () => String(process.pid) }),
  tool('peak', {
    description: 'Returns the peak memory of the process in megabytes',
    run: () => String(Math.round(process.resourceUsage().maxRSS / 1024)),
  }),
  tool('seen', {
    description: 'Returns the arguments and variables of the process',
    run: () =>
      JSON.stringify({ args: process.argv.slice(2), env: Object.keys(process.env).toSorted(), cwd: process.cwd() }),
  }),
  tool('prints', {
    description: 'Prints to stdout in every way',
    run: () => {
      // oxlint-disable-next-line no-console -- stray output is what the test is about
      console.log('by console.log')
      // oxlint-disable-next-line no-console -- as above
      console.table([{ by: 'console.table' }])
      process.stdout.write('by stdout.write\n')
      process.stdout.write(Buffer.from('by stdout.write in bytes\n'))
      return 'printed'
    },
  }),
  tool('waits', {
    description: 'Waits until it is cancelled',
    run: (_, ctx) =>
      new Promise<string>((resolve) => {
        ctx.signal.addEventListener('abort', () => {
          say(`cancelled: ${ctx.signal.reason.message}`)
          resolve('stopped')
        })
        say('waiting')
      }),
  }),
  tool('hangs', { description: 'Never ends', run: () => new Promise<string>(() => say('hanging')) }),
  tool('exits', { description: 'Ends the process', run: () => process.exit(3) }),
]

const server: McpServer = createServer({
  name: 'program',
  version: '1.0.0',
  tools: [
    ...tools,
    tool('change', {
      description: 'Notifies a change of the tools',
      run: () => server.notifyListChanged('tools').then(() => ''),
    }),
  ],
})
serveStdio(server, { graceMs: 300 })
// It keeps the process running, as an open connection to a database would.
setInterval(() => {}, 1000)
