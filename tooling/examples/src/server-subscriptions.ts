import { createServer, resourceNotFoundError, resourceTemplate, tool } from '@x/server'
import * as z from 'zod'

// #region notify
const days = new Map([['monday', 'Buy milk']])

const day = resourceTemplate('diary://{day}', {
  name: 'A day',
  read: ({ day: name }) => days.get(name) ?? Promise.reject(resourceNotFoundError(`diary://${name}`)),
})

const write = tool('write_day', {
  description: 'Writes down a day',
  input: z.object({ day: z.string(), text: z.string() }),
  async run({ day: name, text }, ctx) {
    days.set(name, text)
    await ctx.notifyResourceUpdated(`diary://${name}`)
    return 'Written'
  },
})

// #endregion

export const diary = createServer({
  name: 'diary',
  version: '1.0.0',
  tools: [write],
  resourceTemplates: [day],
})
