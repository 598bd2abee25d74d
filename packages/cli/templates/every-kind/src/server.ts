import { legacy } from '@x/legacy'
import { createServer, tool } from '@x/server'
import * as z from 'zod'

const greet = tool('greet', {
  description: 'Greets a person',
  input: z.object({ name: z.string() }),
  run: ({ name }) => `Hello, ${name}!`,
})

/** The server, which a transport serves and a test calls in memory. Clients of older revisions are served, too. */
export const server = createServer({
  name: '{{name}}',
  version: '0.1.0',
  tools: [greet],
  extensions: [legacy()],
})
