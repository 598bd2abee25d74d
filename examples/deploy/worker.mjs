import { createServer, form, sealedState, tool } from '@x/server'
import { httpHandler } from '@x/transport-http'
import * as z from 'zod'

const greet = tool('greet', {
  description: 'Asks for a name, and greets',
  async run(_, ctx) {
    const { name } = await ctx.elicit('name', {
      message: 'What is your name?',
      schema: form(z.object({ name: z.string() })),
    })
    return `Hello, ${name}!`
  },
})

let handle

/** A Worker for clients of 2026-07-28. Only a request has the secrets in `env`, so the first one creates the server. */
export default {
  fetch(request, env, execution) {
    handle ??= httpHandler(
      createServer({
        name: 'example',
        version: '1.0.0',
        state: sealedState({ keys: env.STATE_KEYS.split(',') }),
        tools: [greet],
        // An isolate reaches no other one, so a change at one isolate would not reach the streams of another.
        subscriptions: false,
      }),
      { allowedHosts: env.ALLOWED_HOSTS.split(',') },
    )
    return handle(request, env, execution)
  },
}
