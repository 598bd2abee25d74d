import { appendFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { ServerExtension } from '@x/exchange'
import { createServer, sealedState, tool } from '@x/server'
import { sheddingSettings } from '@x/server/internals'
import { serveHttp } from '@x/transport-http/node'

const { STATE_KEYS = '', EFFECTS = '', SHEDS = '', ALWAYS, PORT = '0' } = process.env
const { STEPS = '8', STEP_MS = '10', NOTICE_MS = '300', GRACE_MS = '10000' } = process.env

const work = tool('work', {
  description: 'Works in steps, each of which appends a line to a file',
  run: async (_, ctx) => {
    for (let index = 0; index < Number(STEPS); index++) {
      await ctx.step(`step/${index}`, async ({ idempotencyKey }) => {
        await setTimeout(Number(STEP_MS))
        appendFileSync(EFFECTS, `${idempotencyKey}\n`)
      })
    }
    return ctx.uuid('result')
  },
})

const render = tool('render', {
  description: 'Builds a text in steps, each of which appends its process id to a file',
  run: async (_, ctx) => {
    const lines: string[] = []
    for (let index = 0; index < 10; index++) {
      const line = await ctx.step(`line/${index}`, () => {
        appendFileSync(EFFECTS, `${process.pid} ${index}\n`)
        return `${index}: ${'é"\\'.repeat(index)} ${lines.at(-1)?.length ?? 0}`
      })
      lines.push(line)
    }
    return lines.join('\n')
  },
})

const recordSheds: ServerExtension = {
  extends: 'server',
  name: 'recordSheds',
  start: () => ({
    observe: (event) => {
      if (event.type === 'hand_off') appendFileSync(SHEDS, `${event.reason}\n`)
    },
  }),
}

const server = createServer({
  name: 'instance',
  version: '1.0.0',
  state: sealedState({ keys: STATE_KEYS.split(',') }),
  tools: [work, render],
  extensions: [recordSheds],
  // Without a policy, a call would also leave an instance whose event loop is late because the machine is busy.
  shedding: sheddingSettings(ALWAYS === undefined ? { policy: () => false } : { policy: () => true, minWorkMs: 0 }),
})

const stopOnSignals = { noticeMs: Number(NOTICE_MS), graceMs: Number(GRACE_MS) }
void serveHttp(server, { port: Number(PORT), stopOnSignals }).then(({ port }) => console.log(port))
