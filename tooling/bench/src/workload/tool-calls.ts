/** The parameters of a `tools/call`. */
export interface ToolCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly [key: string]: unknown
}

const order = [
  { product_id: 42, quantity: 2 },
  { product_id: 1337, quantity: 1 },
]

/** The calls that a user repeats in turn. */
export const toolCalls: readonly ((user: string) => ToolCall)[] = [
  () => ({
    name: 'search_products',
    arguments: { category: 'Electronics', min_price: 50, max_price: 500, limit: 10 },
  }),
  (user) => ({ name: 'get_user_cart', arguments: { user_id: user } }),
  (user) => ({ name: 'checkout', arguments: { user_id: user, items: order } }),
]

/** The fields of a result that the public benchmark checks. */
interface ShopResult {
  readonly total_found?: number
  readonly products?: readonly unknown[]
  readonly cart?: { readonly items: readonly unknown[] }
  readonly recent_history?: readonly unknown[]
  readonly status?: string
  readonly total?: number
  readonly items_count?: number
}

const rules: Readonly<Record<string, (result: ShopResult) => boolean>> = {
  search_products: ({ total_found, products }) => total_found === 2251 && products?.length === 10,
  get_user_cart: ({ cart, recent_history }) => (cart?.items.length ?? 0) > 0 && recent_history?.length === 5,
  checkout: ({ status, total = 0, items_count }) => status === 'confirmed' && total > 0 && items_count === 2,
}

/** Returns a description of a wrong response to a call, or undefined for a right one. */
export function findWrongAnswer(name: string, status: number, message: string): string | undefined {
  const text: unknown = status === 200 ? JSON.parse(message).result?.content?.[0]?.text : undefined
  const isRight = typeof text === 'string' && text.startsWith('{') && rules[name]?.(JSON.parse(text)) === true
  return isRight ? undefined : `${name} was answered with ${status} ${message.slice(0, 500)}`
}
