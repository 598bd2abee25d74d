import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { answerQuestions } from '../http/answer-questions.ts'

// The product service of the public benchmark, with the same 100,000 products by the same formula. The result of the
// search is prepared, so that the service uses little CPU.
const categories = 20
const electronics = 0
const count = 100_000

interface Product {
  readonly id: number
  readonly sku: string
  readonly name: string
  readonly price: number
  readonly rating: number
}

function productAt(index: number): Product {
  const id = index + 1
  return {
    id,
    sku: `SKU-${String(id).padStart(6, '0')}`,
    name: `Item ${id}`,
    price: 1 + (index % 99_900) / 100,
    rating: 1 + (index % 40) / 10,
  }
}

const found = Array.from({ length: count }, (_, index) => index)
  .filter((index) => index % categories === electronics)
  .map(productAt)
  .filter(({ price }) => price >= 50 && price <= 500)
  .toSorted((a, b) => a.price - b.price)
const searchAnswer = JSON.stringify({
  category: 'Electronics',
  total_found: found.length,
  products: found.slice(0, 10),
})

interface Order {
  readonly user_id: string
  readonly items: readonly { readonly product_id: number; readonly quantity: number }[]
}

function calculate({ user_id, items }: Order): object {
  const total = items.reduce((sum, { product_id, quantity }) => sum + productAt(product_id - 1).price * quantity, 0)
  return { order_id: `ORD-${user_id}-${items.length}`, user_id, total, items_count: items.length }
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request)
  const path = request.url ?? ''
  response.writeHead(200, { 'content-type': 'application/json' })
  if (path.startsWith('/products/search')) response.end(searchAnswer)
  else if (request.method === 'POST') response.end(JSON.stringify(calculate(JSON.parse(body))))
  else response.end(JSON.stringify(productAt(Number(path.slice('/products/'.length)) - 1)))
}

answerQuestions(createServer((request, response) => void serve(request, response)))
