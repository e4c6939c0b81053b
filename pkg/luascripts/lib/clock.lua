-- clock: the server's time, and numbers in and out of text.
-- Numbers leave Lua as text made by %.0f: Lua's own tostring keeps 14 digits,
-- and a Redis reply of a Lua number loses its fraction.

-- now_ms() is the server's time in milliseconds since the epoch.
local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- text(n) is the integer n in decimal.
local function text(n)
  return string.format('%.0f', n)
end

-- counter_value(s) is the number of a counter in canonical decimal, as INCR
-- takes it, and nil of anything else.
local function counter_value(s)
  return (s == '0' or string.match(s, '^[1-9]%d*$')) and tonumber(s) or nil
end

-- number(s) reads a score or counter, also in the forms of some servers that
-- not every Lua reads: "1e+9", "inf".
local function number(s)
  local n = tonumber(s)
  if not n then
    if string.find(s, 'inf', 1, true) then
      return string.sub(s, 1, 1) == '-' and -math.huge or math.huge
    end
    local mantissa, exponent = string.match(s, '^(-?[%d.]+)[eE]%+?(-?%d+)$')
    n = tonumber(mantissa) * 10 ^ tonumber(exponent)
  end
  return n
end
