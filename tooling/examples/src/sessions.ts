import { createClient } from '@x/client'
import { createServer, type McpServer, type Tool, tool, ToolError } from '@x/server'
import {
  type ClientSession,
  type ClientSessions,
  isSessionNotFound,
  type SerializedSession,
  sessions as clientSessions,
} from '@x/sessions/client'
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
export const chooseCity = (trips: Sessions<Trip>): Tool =>
  tool('choose_city', {
    description: 'Chooses where the trip goes',
    input: z.object({ city: z.string() }),
    run({ city }, ctx) {
      const session = trips.of(ctx)
      session.setState({ ...session.state, city })
      return `The trip goes to ${city}`
    },
  })

export const addNights = (trips: Sessions<Trip>): Tool =>
  tool('add_nights', {
    description: 'Adds nights to the trip, in the city that was chosen unless another is named',
    input: z.object({ nights: z.number().int().min(1), city: z.string().optional() }),
    run({ nights, city }, ctx) {
      // Works for clients without sessions too, as long as they say where.
      const session = trips.find(ctx)
      const where = city ?? session?.state.city
      if (where === undefined) throw new ToolError('Which city? Name it, or choose one first with choose_city')
      const total = (session?.state.nights ?? 0) + nights
      session?.setState({ city: where, nights: total })
      return `${total} nights in ${where}`
    },
  })
// #endregion handler

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

// #region gate
export const bookTrip = (trips: Sessions<Trip>): Tool =>
  tool('book_trip', {
    description: 'Books the trip of this conversation',
    // Listed and callable once there is a session with a city in it; until then it does not exist.
    visibleTo: trips.when(({ state }) => state.city !== undefined),
    run: (_args, ctx) => `Booked: ${trips.of(ctx).state.city}`,
  })
// #endregion gate

// #region revocable
export function defineRevocableTrips(store: StateStore): Sessions<Trip> {
  return sessions({
    // Which sessions live is known to all instances …
    store,
    // … and their states stay there too, with a handle of 43 characters in their place.
    state: { schema: tripState, initial: { nights: 0 }, codec: storedState({ store, maxAgeMs: 86_400_000 }) },
  })
}
// #endregion revocable

// #region claim
export const addNightCarefully = (trips: Sessions<Trip>): Tool =>
  tool('add_night', {
    description: 'Adds one night',
    async run(_args, ctx) {
      const session = trips.of(ctx)
      if (!(await session.claim())) throw new ToolError('Another call is changing this trip: try again')
      session.setState({ ...session.state, nights: session.state.nights + 1 })
      return `${session.state.nights} nights`
    },
  })
// #endregion claim

/** Something that is expensive to open; a stand-in for a real one. */
export interface CityMap {
  readonly show: (city: string) => string
  readonly close: () => void
}

// #region resources
export function createMapServer(keys: readonly KeyInput[], openMap: () => Promise<CityMap>): McpServer {
  // One map for each session at this instance, opened by the first call that wants it, closed with the session.
  const maps = sessionResources({ open: openMap, close: (map) => map.close(), maxOpenResources: 200 })
  const trips = sessions({
    ttlMs: 3_600_000,
    onDelete: ({ id }) => maps.end(id),
  })
  const show = tool('show', {
    description: 'Shows a city on the map of this conversation',
    input: z.object({ city: z.string() }),
    run: async ({ city }, ctx) => (await maps.of(trips.of(ctx))).show(city),
  })
  return createServer({
    name: 'maps',
    version: '1.0.0',
    state: sealedState({ keys }),
    tools: [show],
    extensions: [trips],
  })
}
// #endregion resources

// #region client
export async function planTrips(url: string): Promise<unknown> {
  await using client = createClient(connectHttp(url), {
    name: 'planner',
    version: '1.0.0',
    extensions: [clientSessions()],
  })
  // One for each conversation; both are deleted at the end of their scope.
  await using work = await client.sessions.create()
  await using holidays = await client.sessions.create()
  await work.callTool('choose_city', { city: 'Oslo' })
  await holidays.callTool('choose_city', { city: 'Faro' })
  const { content } = await work.callTool('add_nights', { nights: 2 })
  return content
}
// #endregion client

// #region over
export async function addNight(sessions: ClientSessions, session: ClientSession): Promise<ClientSession> {
  try {
    await session.callTool('add_nights', { nights: 1 })
    return session
  } catch (error) {
    if (!isSessionNotFound(error)) throw error
    // It has expired or was revoked, for good: a new one begins, and its user should know that it has forgotten
    // everything.
    return sessions.create()
  }
}
// #endregion over

// #region serialize
export function saveForLater(session: ClientSession, save: (serialized: SerializedSession) => void): void {
  save(session.serialize())
}

export function resumeTrip(serialized: unknown, url: string): ClientSession {
  const extensions = [clientSessions({ user: 'ada@example.com' })] as const
  const client = createClient(connectHttp(url), { name: 'planner', version: '1.0.0', extensions })
  return client.sessions.resume(serialized)
}
// #endregion serialize
