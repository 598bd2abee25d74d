import { createClient } from '@redis/client'

/**
 * Opens the two services behind the tools: Redis, and the HTTP service of the products.
 *
 * Each function does the reads and writes of one tool, in parallel where the contract of the benchmark allows it.
 */
export async function openShop({ redisUrl, apiUrl, serverType }) {
  const redis = createClient({ url: redisUrl })
  redis.on('error', (error) => console.error(`Redis: ${error.message}`))
  await redis.connect()
  const requestJson = async (path, init) => (await fetch(`${apiUrl}${path}`, init)).json()
  const services = { redis, requestJson, serverType }
  return {
    searchProducts: (args) => searchProducts(services, args),
    getUserCart: (args) => getUserCart(services, args),
    checkout: (args) => checkout(services, args),
  }
}

async function searchProducts({ redis, requestJson, serverType }, { category, min_price, max_price, limit }) {
  const query = new URLSearchParams({ category, min_price, max_price, limit })
  const [found, popular] = await Promise.all([
    requestJson(`/products/search?${query}`),
    redis.zRange('bench:popular', 0, 9, { REV: true }),
  ])
  const popularIds = popular.map((member) => Number(member.slice('product:'.length)))
  const ranks = new Map(popularIds.map((id, index) => [id, index + 1]))
  const products = found.products.map(({ id, sku, name, price, rating }) => {
    return { id, sku, name, price, rating, popularity_rank: ranks.get(id) ?? 0 }
  })
  const { total_found } = found
  return { category, total_found, products, top10_popular_ids: popularIds, server_type: serverType }
}

async function getUserCart({ redis, requestJson, serverType }, { user_id }) {
  const cart = await redis.hGetAll(`bench:cart:${user_id}`)
  const items = JSON.parse(cart.items ?? '[]')
  const [, history] = await Promise.all([
    requestJson(`/products/${items[0]?.product_id ?? 1}`),
    redis.lRange(`bench:history:${user_id}`, 0, 4),
  ])
  return {
    user_id,
    cart: { items, item_count: items.length, estimated_total: Number(cart.total ?? 0) },
    recent_history: history.map((entry) => JSON.parse(entry)),
    server_type: serverType,
  }
}

async function checkout({ redis, requestJson, serverType }, { user_id, items }) {
  const order = JSON.stringify({ order_id: `ORD-${user_id}-${Date.now()}`, items })
  const counter = String(Number(user_id.slice('user-'.length)) % 100).padStart(5, '0')
  const [calculated, count] = await Promise.all([
    requestJson('/cart/calculate', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ user_id, items }),
    }),
    redis.incr(`bench:ratelimit:user-${counter}`),
    redis.rPush(`bench:history:${user_id}`, order),
    redis.zIncrBy('bench:popular', 1, `product:${items[0]?.product_id ?? 1}`),
  ])
  return {
    order_id: calculated.order_id,
    user_id,
    total: calculated.total,
    items_count: items.length,
    rate_limit_count: count,
    status: 'confirmed',
    server_type: serverType,
  }
}
