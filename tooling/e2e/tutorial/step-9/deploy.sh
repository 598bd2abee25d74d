docker build --tag bakery .
docker run --rm --publish 127.0.0.1:3000:3000 --env ALLOWED_HOSTS=localhost --env STATE_KEYS="$(cat state.keys)" bakery
