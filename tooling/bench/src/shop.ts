import { copyFile, mkdir } from 'node:fs/promises'
import type { Server } from '@x/exchange'
import * as z from 'zod'

/** The reads and writes of the three tools of `workload`, which `shop.mjs` of the example implements. */
export interface Shop {
  searchProducts(args: unknown): Promise<object>
  getUserCart(args: unknown): Promise<object>
  checkout(args: unknown): Promise<object>
}

interface ExampleFiles {
  readonly openShop: (settings: { redisUrl: string; apiUrl: string; serverType: string }) => Promise<Shop>
  readonly createShopServer: (shop: Shop) => Server
}

const source = new URL('../../../examples/benchmark-mcp-servers/', import.meta.url)
const copy = new URL('../dist/example/', import.meta.url)

/** Copies the files of the example into the built benchmark, where their imports resolve to its packages. */
export async function copyExample(): Promise<void> {
  await mkdir(copy, { recursive: true })
  for (const name of ['shop.mjs', 'definition.mjs', 'server.mjs'])
    await copyFile(new URL(name, source), new URL(name, copy))
}

/** Opens the shop with the URLs of the environment variables. */
export async function openShop(): Promise<Shop> {
  const { REDIS_URL: redisUrl = '', API_SERVICE_URL: apiUrl = '' } = process.env
  const { openShop: open } = await importExample('shop.mjs')
  return open({ redisUrl, apiUrl, serverType: 'bench' })
}

/** Imports a file of the example. */
export async function importExample(name: string): Promise<ExampleFiles> {
  return (await import(new URL(name, copy).href)) as ExampleFiles
}

interface TextResult {
  content: { type: 'text'; text: string }[]
  [key: string]: unknown
}

/** The part of the official SDK's server, v1 and v2, that registers a tool. */
interface ToolRegistry {
  registerTool(
    name: string,
    config: { description: string; inputSchema: z.ZodObject },
    run: (args: unknown) => Promise<TextResult>,
  ): unknown
}

const user = z.string().default('user-00042')
const search = z.object({
  category: z.string().default('Electronics'),
  min_price: z.number().default(50),
  max_price: z.number().default(500),
  limit: z.number().default(10),
})
const items = z.array(z.object({ product_id: z.number(), quantity: z.number() }))

/** Registers the three tools of the workload, and returns the server. */
export function registerShopTools<S extends ToolRegistry>(server: S, shop: Shop): S {
  const register = (name: string, inputSchema: z.ZodObject, work: (args: unknown) => Promise<object>): void => {
    server.registerTool(name, { description: name, inputSchema }, async (args) => {
      return { content: [{ type: 'text', text: JSON.stringify(await work(args)) }] }
    })
  }
  register('search_products', search, (args) => shop.searchProducts(args))
  register('get_user_cart', z.object({ user_id: user }), (args) => shop.getUserCart(args))
  register('checkout', z.object({ user_id: user, items }), (args) => shop.checkout(args))
  return server
}
