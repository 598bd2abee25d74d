import { appendFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { createServer, isSuspension, tool } from '@x/server'
import { tasks } from '@x/tasks/server'
import { serveHttp } from '@x/transport-http/node'

const { STORE = 'memory:', EFFECTS = '' } = process.env

const count = tool('count', {
  description: 'Counts slowly, and appends each number to a file, or that a failure undoes them',
  task: 'required',
  run: async (_, ctx) => {
    try {
      for (let number = 0; number < 30; number += 1) {
        await ctx.step(`${number}`, async () => {
          await setTimeout(100)
          appendFileSync(EFFECTS, `${number}\n`)
        })
      }
      return 'counted'
    } catch (error) {
      if (![error, ctx.signal.reason].some(isSuspension)) appendFileSync(EFFECTS, 'undone\n')
      throw error
    }
  },
})

const server = createServer({
  name: 'stopping',
  version: '1.0.0',
  tools: [count],
  extensions: [tasks({ store: STORE })],
})

// Only a signal ends the process.
void serveHttp(server, { stopOnSignals: true }).then(({ port }) => process.stdout.write(`${port}\n`))
