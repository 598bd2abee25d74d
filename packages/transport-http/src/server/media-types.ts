const json = 'application/json'
const requiredTypes = 'application/json, text/event-stream'

/**
 * Returns true if a `Content-Type` says JSON in UTF-8. Anything a form can send (`text/plain`, forms) is not, which keeps out
 * the POSTs that a browser makes for a foreign page without asking.
 */
export function isJsonMediaType(contentType: string | undefined): boolean {
  if (contentType === json) return true
  if (contentType === undefined) return false
  const [type, ...parameters] = contentType.toLowerCase().split(';')
  if (type?.trim() !== json) return false
  return parameters.every((parameter) => {
    const [name, value] = parameter.split('=')
    return name?.trim() !== 'charset' || value?.trim().replaceAll('"', '') === 'utf-8'
  })
}

/** Returns true if an `Accept` allows both JSON and an event stream; an absent one allows everything (RFC 9110, 12.5.1). */
export function acceptsBoth(accept: string | undefined): boolean {
  if (accept === undefined || accept === requiredTypes) return true
  const weights = weightsOf(accept)
  return accepts(weights, 'application', 'json') && accepts(weights, 'text', 'event-stream')
}

function weightsOf(accept: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';')
    const quality = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('q='))
    weights.set(type.trim(), quality === undefined ? 1 : Number(quality.slice(2)))
  }
  return weights
}

// The most specific range that names the type decides.
function accepts(weights: ReadonlyMap<string, number>, type: string, subtype: string): boolean {
  const weight = weights.get(`${type}/${subtype}`) ?? weights.get(`${type}/*`) ?? weights.get('*/*') ?? 0
  return weight > 0
}
