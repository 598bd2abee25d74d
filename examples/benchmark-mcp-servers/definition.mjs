import { legacy } from '@x/legacy'
import { createServer, tool } from '@x/server'
import * as z from 'zod'

const user = z.string().default('user-00042')

/** Creates the server with the three tools of the benchmark. It serves clients of every revision. */
export function createShopServer(shop, { state } = {}) {
  const searchProducts = tool('search_products', {
    description: 'Searches products by category and price, with their popularity',
    input: z.object({
      category: z.string().default('Electronics'),
      min_price: z.number().default(50),
      max_price: z.number().default(500),
      limit: z.number().default(10),
    }),
    run: async (args) => JSON.stringify(await shop.searchProducts(args)),
  })
  const getUserCart = tool('get_user_cart', {
    description: 'Reads the cart and the recent orders of a user',
    input: z.object({ user_id: user }),
    run: async (args) => JSON.stringify(await shop.getUserCart(args)),
  })
  const checkout = tool('checkout', {
    description: 'Calculates the total of an order, and confirms it',
    input: z.object({
      user_id: user,
      items: z.array(z.object({ product_id: z.number(), quantity: z.number() })).default([
        { product_id: 42, quantity: 2 },
        { product_id: 1337, quantity: 1 },
      ]),
    }),
    run: async (args) => JSON.stringify(await shop.checkout(args)),
  })
  return createServer({
    name: 'shop',
    version: '1.0.0',
    state,
    tools: [searchProducts, getUserCart, checkout],
    extensions: [legacy()],
  })
}
