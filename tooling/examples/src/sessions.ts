import { createClient } from '@x/client'
import { createServer, type McpServer, tool, ToolError } from '@x/server'
import { type ClientSession, type SessionsClient, isSessionNotFound, sessionsClient } from '@x/sessions/client'
import { type Sessions, type SessionsApi, sessionResources, sessions } from '@x/sessions/server'
import { type KeyInput, sealedState, type StateStore, storedState } from '@x/state-codec'
import { connectHttp } from '@x/transport-http/client'
import * as z from 'zod'

// #region define
export const tripState = z.object({ city: z.string().optional(), nights: z.number().default(0) })
export type Trip = z.infer<typeof tripState>

export function defineTrips(): Sessions<Trip> {
  return sessions({ state: { schema: tripState, initial: { nights: 0 } } })
}
// #endregion define

// #region handler
export const addNights = (trips: Sessions<Trip>) =>
  tool('add_nights', {
    description: 'Adds nights to the trip, in the chosen city by default',
    input: z.object({ nights: z.number().int().min(1), city: z.string().optional() }),
    run({ nights, city }, ctx) {
      // Without a session, the call must name the city.
      const session = trips.find(ctx)
      const where = city ?? session?.state.city
      if (where === undefined) throw new ToolError('The city is missing: name it, or call choose_city first')
      const total = (session?.state.nights ?? 0) + nights
      session?.setState({ city: where, nights: total })
      return `${total} nights in ${where}`
    },
  })
// #endregion handler

export const chooseCity = (trips: Sessions<Trip>) =>
  tool('choose_city', {
    description: 'Chooses the city of the trip',
    input: z.object({ city: z.string() }),
    run({ city }, ctx) {
      const session = trips.of(ctx)
      session.setState({ ...session.state, city })
      return `The trip goes to ${city}`
    },
  })

export function createTravelServer(
  trips: Sessions<Trip>,
  keys: readonly KeyInput[],
): McpServer & { readonly sessions: SessionsApi } {
  return createServer({
    name: 'travel',
    version: '1.0.0',
    state: sealedState({ keys }),
    tools: [chooseCity(trips), addNights(trips), bookTrip(trips)],
    extensions: [trips],
  })
}

export const bookTrip = (trips: Sessions<Trip>) =>
  tool('book_trip', {
    description: 'Books the trip of this conversation',
    // Clients can see and call this tool only in a session whose state has a city.
    visibleTo: trips.when(({ state }) => state.city !== undefined),
    run: (_args, ctx) => `Booked: ${trips.of(ctx).state.city}`,
  })

export function defineRevocableTrips(store: StateStore): Sessions<Trip> {
  return sessions({
    // The store has the ended sessions, for all instances.
    store,
    // The states are also in the store. The client receives only a handle.
    state: { schema: tripState, initial: { nights: 0 }, codec: storedState({ store, maxAgeMs: 86_400_000 }) },
  })
}

export const addNightCarefully = (trips: Sessions<Trip>) =>
  tool('add_night', {
    description: 'Adds one night',
    async run(_args, ctx) {
      const session = trips.of(ctx)
      if (!(await session.claim())) throw new ToolError('Another call is changing this trip: try again')
      session.setState({ ...session.state, nights: session.state.nights + 1 })
      return `${session.state.nights} nights`
    },
  })

/** An editor, which is expensive to open. */
export interface Editor {
  readonly write: (text: string) => string
  readonly close: () => void
}

export function createEditorServer(keys: readonly KeyInput[], openEditor: () => Promise<Editor>): McpServer {
  const editors = sessionResources({ open: openEditor, close: (editor) => editor.close() })
  const conversations = sessions({ onDelete: ({ id }) => editors.end(id) })
  const write = tool('write', {
    description: 'Writes a text in the editor of this conversation',
    input: z.object({ text: z.string() }),
    run: async ({ text }, ctx) => (await editors.of(conversations.of(ctx))).write(text),
  })
  return createServer({
    name: 'editors',
    version: '1.0.0',
    state: sealedState({ keys }),
    tools: [write],
    extensions: [conversations],
  })
}

export async function planTrips(url: string): Promise<unknown> {
  await using client = createClient(connectHttp(url), {
    name: 'planner',
    version: '1.0.0',
    extensions: [sessionsClient()],
  })
  // One session for each conversation. Both are deleted at the end of their scope.
  await using work = await client.sessions.create()
  await using holidays = await client.sessions.create()
  await work.callTool('choose_city', { city: 'Oslo' })
  await holidays.callTool('choose_city', { city: 'Faro' })
  const { content } = await work.callTool('add_nights', { nights: 2 })
  return content
}

// #region over
export async function addNight(api: SessionsClient, session: ClientSession): Promise<ClientSession> {
  try {
    await session.callTool('add_nights', { nights: 1 })
    return session
  } catch (error) {
    if (!isSessionNotFound(error)) throw error
    // The session has expired or was revoked. Inform the user that its state is lost.
    return api.create()
  }
}
// #endregion over

// #region serialize
export function resumeTrip(serialized: unknown, url: string): ClientSession {
  const extensions = [sessionsClient({ user: 'ada@example.com' })] as const
  const client = createClient(connectHttp(url), { name: 'planner', version: '1.0.0', extensions })
  return client.sessions.resume(serialized)
}
// #endregion serialize
