import * as z from 'zod'
import type { Shop } from './shop.ts'

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
const order = z.object({
  user_id: user,
  items: z.array(z.object({ product_id: z.number(), quantity: z.number() })),
})

/** Registers the three tools of the workload. */
export function registerShopTools(server: ToolRegistry, shop: Shop): void {
  const register = (name: string, inputSchema: z.ZodObject, work: (args: unknown) => Promise<object>): void => {
    server.registerTool(name, { description: name, inputSchema }, async (args) => {
      return { content: [{ type: 'text', text: JSON.stringify(await work(args)) }] }
    })
  }
  register('search_products', search, (args) => shop.searchProducts(args))
  register('get_user_cart', z.object({ user_id: user }), (args) => shop.getUserCart(args))
  register('checkout', order, (args) => shop.checkout(args))
}
