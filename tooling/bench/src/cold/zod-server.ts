// What zod alone adds to the floor: a schema is made, and no request is checked by it.
import * as z from 'zod'
import './floor-server.ts'

z.object({ text: z.string(), times: z.number().int().min(1).max(10) })
