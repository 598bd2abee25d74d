node --test bakery.test.mjs
