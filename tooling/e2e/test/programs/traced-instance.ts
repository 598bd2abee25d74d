import { createServer, sealedState, tool } from '@x/server'
import { sheddingSettings } from '@x/server/internals'
import { telemetry } from '@x/server/otel'
import { tasks } from '@x/tasks/server'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'
import { exportOtlp } from './telemetry-recipes.ts'

const { DATABASE_URL = '', STATE_KEYS = '', COLLECTOR = '', NAME = '', HANDS_OFF, RUNS_TASKS } = process.env

const publish = tool('publish', {
  description: 'Asks, works at two instances, and continues as a task',
  run: async (_, ctx) => {
    const { site } = await ctx.elicit('site', { message: 'Which site?', schema: z.object({ site: z.string() }) })
    await ctx.step('render', () => NAME)
    await ctx.step('check', () => NAME)
    await ctx.continueAsTask()
    await ctx.step('upload', () => NAME)
    return `Published ${site}`
  },
})

const server = createServer({
  name: 'instance',
  version: '1.0.0',
  // Sends the last spans when the server has stopped.
  close: exportOtlp(COLLECTOR),
  state: sealedState({ keys: STATE_KEYS.split(',') }),
  tools: [publish],
  extensions: [telemetry(), tasks({ store: DATABASE_URL, runWorker: RUNS_TASKS === 'yes' })],
  shedding: sheddingSettings(HANDS_OFF === 'yes' ? { policy: () => true, minWorkMs: 0 } : {}),
})

void serveHttp(server, { stopOnSignals: true }).then(({ port }) => console.log(port))
