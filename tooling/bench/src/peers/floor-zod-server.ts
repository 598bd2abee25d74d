// The floor with zod: it creates a schema, and does not validate requests.
import * as z from 'zod'
import './floor-server.ts'

z.object({ text: z.string(), times: z.number().int().min(1).max(10) })
