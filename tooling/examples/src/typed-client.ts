import { type Client, createClient, type TypesOf } from '@x/client'
import type { Connection } from '@x/exchange'
import type { server } from './server.ts'

/** The repository of the server, whose `server.ts` exports it, publishes this interface. */
export interface GuideTypes extends TypesOf<typeof server> {}

export const connectGuide = (connection: Connection): Client<GuideTypes> =>
  createClient<GuideTypes>(connection, { name: 'host', version: '1.0.0' })
