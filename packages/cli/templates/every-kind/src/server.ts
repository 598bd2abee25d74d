import { legacy } from '@x/legacy'
import { createServer, sealedState, tool } from '@x/server'
import * as z from 'zod'

const greet = tool('greet', {
  description: 'Greets a person',
  input: z.object({ name: z.string() }),
  run: ({ name }) => `Hello, ${name}!`,
})

// Every instance needs the same keys, from `npx mcpx keys new`. Without keys, questions work while this process lives.
const keys = process.env.STATE_KEYS?.split(',')

/** The server, which a transport serves and a test calls in memory. Clients of older revisions are served, too. */
export const server = createServer({
  name: '{{name}}',
  version: '0.1.0',
  tools: [greet],
  extensions: [legacy()],
  ...(keys && { state: sealedState({ keys }) }),
})
