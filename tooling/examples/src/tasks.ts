import { createServer, isSuspension, type ServerDefinition, sealedState, type Tool, tool } from '@x/server'
import { type PostgresPool, postgresBus } from '@x/server/postgres'
import { tasks } from '@x/tasks/server'
import { engineContract, type EngineUnderTest } from '@x/tasks/testing'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import * as z from 'zod'

/** The data of the guide's programs. */
export interface Shop {
  readonly orders: (day: string) => Promise<string[]>
  readonly ship: (order: string, idempotencyKey: string) => Promise<string>
}

export const shipOrders = (shop: Shop) =>
  tool('ship_orders', {
    description: 'Ships every order of a day',
    input: z.object({ day: z.string() }),
    task: 'allowed',
    async run({ day }, ctx) {
      const orders = await ctx.step('orders', () => shop.orders(day))
      for (const [done, order] of orders.entries()) {
        await ctx.step(`ship/${order}`, ({ idempotencyKey }) => shop.ship(order, idempotencyKey))
        ctx.progress(done + 1, orders.length, `${order} is on its way`)
      }
      return `Shipped ${orders.length} orders.`
    },
  })

// #region decide
export const shipSome = (ship: (order: string, idempotencyKey: string) => Promise<string>) =>
  tool('ship_some', {
    description: 'Ships orders',
    input: z.object({ orders: z.array(z.string()) }),
    task: ({ orders }) => (orders.length > 10 ? 'required' : 'never'),
    async run({ orders }, ctx) {
      for (const order of orders) await ctx.step(`ship/${order}`, ({ idempotencyKey }) => ship(order, idempotencyKey))
      return `Shipped ${orders.length} orders.`
    },
  })
// #endregion decide

// #region first
const carriers = z.object({ carrier: z.enum(['bike', 'truck']) })

export const shipWith = (ship: (order: string, idempotencyKey: string) => Promise<string>) =>
  tool('ship_with', {
    description: 'Ships orders with a carrier of the user’s choice',
    input: z.object({ orders: z.array(z.string()) }),
    async run({ orders }, ctx) {
      const { carrier } = await ctx.elicit('carrier', { message: 'Which carrier?', schema: carriers })
      await ctx.continueAsTask()
      for (const order of orders) await ctx.step(`ship/${order}`, ({ idempotencyKey }) => ship(order, idempotencyKey))
      return `Shipped ${orders.length} orders by ${carrier}.`
    },
  })
// #endregion first

// #region undo
interface Warehouse {
  readonly charge: (item: string, idempotencyKey: string) => Promise<void>
  readonly refund: (item: string) => Promise<void>
  readonly pack: (item: string, signal: AbortSignal) => Promise<string>
}

export const order = (shop: Warehouse) =>
  tool('order', {
    description: 'Orders an item',
    input: z.object({ item: z.string() }),
    task: 'required',
    async run({ item }, ctx) {
      try {
        await ctx.step('charge', ({ idempotencyKey }) => shop.charge(item, idempotencyKey))
        return await ctx.step('pack', ({ signal }) => shop.pack(item, signal))
      } catch (error) {
        // When the signal aborts, a library may throw an error of its own.
        if (![error, ctx.signal.reason].some(isSuspension)) await shop.refund(item)
        throw error
      }
    },
  })
// #endregion undo

// #region fleet
export async function instance(
  tools: readonly Tool[],
  pool: PostgresPool,
  keys: readonly string[],
): Promise<HttpServer> {
  const bus = postgresBus(pool)
  const state = sealedState({ keys: [...keys] })
  const server = createServer({
    name: 'shop',
    version: '1.0.0',
    tools,
    state,
    subscriptions: { bus },
    extensions: [tasks({ store: 'postgres://localhost/shop' })],
  })
  const http = await serveHttp(server, { port: 8080, stopOnSignals: { noticeMs: 5000, graceMs: 20_000 } })
  // The instance runs tasks from here on, and not only after its first request.
  await server.ready()
  return http
}
// #endregion fleet

// #region roles
export const accepting = (definition: ServerDefinition) =>
  createServer({ ...definition, extensions: [tasks({ store: 'postgres://localhost/shop', runWorker: false })] })

export async function working(definition: ServerDefinition) {
  const store = tasks({ store: 'postgres://localhost/shop', concurrency: 64 })
  const server = createServer({ ...definition, extensions: [store] })
  // The worker starts with the first request, or here in a program without requests.
  await server.ready()
  if (server.load.unavailable.includes('tasks'))
    console.warn('The database of the tasks is unreachable. The worker retries.')
  return server
}
// #endregion roles

// #region contract
export function checkEngine(
  setUp: () => Promise<EngineUnderTest>,
  test: (title: string, run: () => Promise<void>) => void,
): void {
  for (const { title, run } of engineContract(setUp)) test(title, run)
}
// #endregion contract
