import { connectRedis, type TestClient } from '@tooling/real-servers/redis'

const users = 1000
const products = 100_000

/** Fills Redis with the carts, orders and popularities of the public benchmark. */
export async function seedRedis(path: string): Promise<void> {
  const client = await connectRedis(path)
  try {
    await Promise.all(Array.from({ length: users }, (_, index) => seedUser(client, index + 1)))
    const members = Array.from({ length: products }, (_, index) => ({
      value: `product:${index + 1}`,
      score: ((index + 1) * 7) % 10_000,
    }))
    for (let from = 0; from < products; from += 5000)
      await client.zAdd('bench:popular', members.slice(from, from + 5000))
  } finally {
    client.destroy()
  }
}

async function seedUser(client: TestClient, number: number): Promise<void> {
  const name = `user-${String(number).padStart(5, '0')}`
  const items = [7, 13].map((factor) => ({ product_id: ((number * factor) % products) + 1, qty: 1 + (number % 3) }))
  const orders = Array.from({ length: 20 }, (_, index) =>
    JSON.stringify({ order_id: `ORD-${number}-${index}`, product_id: ((number * index * 7) % products) + 1, qty: 1 }),
  )
  await client.hSet(`bench:cart:${name}`, { user_id: name, items: JSON.stringify(items), total: '12.34' })
  await client.rPush(`bench:history:${name}`, orders)
}
