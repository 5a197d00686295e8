//! Check digits of numbers that people are given. Each function takes a number with its separators.
//!
//! Not here: how the numbers are found in a text (`personal`).

/// Characters of account numbers, with the countries whose numbers have so many.
const IBAN_LENGTHS: [(usize, &str); 17] = [
    (15, "NO"),
    (16, "BE"),
    (18, "DK FI FO GL NL SD"),
    (19, "MK SI"),
    (20, "AT BA EE KZ LT LU XK"),
    (21, "CH HR LI LV"),
    (22, "BG BH CR DE GB GE IE ME RS VA"),
    (23, "AE GI IL IQ TL"),
    (24, "AD CZ ES MD PK RO SA SE SK TN VG"),
    (25, "LY PT ST"),
    (26, "IS TR"),
    (27, "FR GR IT MC MR SM"),
    (28, "AL AZ BY CY DO GT HU LB PL SV"),
    (29, "BR EG PS QA UA"),
    (30, "JO KW MU"),
    (31, "MT SC"),
    (32, "LC"),
];

/// The digits of a number, as numbers.
fn digits(number: &[u8]) -> Vec<u32> {
    let digits = number.iter().filter(|byte| byte.is_ascii_digit());
    digits.map(|digit| u32::from(digit - b'0')).collect()
}

/// Payment cards, and Canada's social insurance number: every second digit doubled (ISO/IEC 7812-1).
pub(super) fn has_luhn_check(number: &[u8]) -> bool {
    let digits = digits(number);
    let value = |(place, digit): (usize, &u32)| match place % 2 {
        0 => *digit,
        _ => digit * 2 / 10 + digit * 2 % 10,
    };
    let sum: u32 = digits.iter().rev().enumerate().map(value).sum();
    sum.is_multiple_of(10) && digits.iter().any(|digit| *digit != 0)
}

/// Bank accounts: 1 modulo 97 with the first four characters at the end (ISO 13616).
pub(super) fn has_iban_check(number: &[u8]) -> bool {
    let plain: Vec<u8> = number
        .iter()
        .copied()
        .filter(|byte| *byte != b' ')
        .collect();
    let country = String::from_utf8_lossy(&plain[..2]);
    let mut known = IBAN_LENGTHS.iter();
    let has_its_length = known.any(|(length, countries)| {
        *length == plain.len() && countries.split(' ').any(|known| known == country)
    });
    let moved = plain[4..].iter().chain(&plain[..4]);
    let rest = moved.fold(0_u32, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    rest == 1 && has_its_length
}

/// Germany's tax number: modulo 11 and 10 (ISO 7064).
pub(super) fn has_german_check(number: &[u8]) -> bool {
    let digits = digits(number);
    let [first, .., check] = digits[..] else {
        return false;
    };
    let product = digits[..digits.len() - 1]
        .iter()
        .fold(10, |product, digit| {
            let sum = match (digit + product) % 10 {
                0 => 10,
                sum => sum,
            };
            sum * 2 % 11
        });
    digits.len() == 11 && first != 0 && (11 - product) % 10 == check
}

/// France's social security number: two digits that complete the others to a multiple of 97. Corsica's letters stand
/// for numbers.
pub(super) fn has_french_check(number: &[u8]) -> bool {
    let text = String::from_utf8_lossy(number).replace(' ', "");
    let text = text.replace("2A", "19").replace("2B", "18");
    let Some((number, key)) = text.split_at_checked(13) else {
        return false;
    };
    let (number, key): (Result<u64, _>, Result<u64, _>) = (number.parse(), key.parse());
    matches!((number, key), (Ok(number), Ok(key)) if 97 - number % 97 == key)
}

/// Spain's DNI and NIE: a letter for the number modulo 23.
pub(super) fn has_spanish_check(number: &[u8]) -> bool {
    const LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    let Some((letter, body)) = number.split_last() else {
        return false;
    };
    let value = body.iter().fold(0_usize, |value, byte| match byte {
        b'X'..=b'Z' => usize::from(byte - b'X'),
        b'0'..=b'9' => value * 10 + usize::from(byte - b'0'),
        _ => value,
    });
    LETTERS[value % LETTERS.len()] == *letter
}

/// Italy's codice fiscale: a letter for the sum, with other values at odd places.
pub(super) fn has_italian_check(number: &[u8]) -> bool {
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    let Some((check, body)) = number.split_last() else {
        return false;
    };
    let value = |(place, byte): (usize, &u8)| {
        let value = match byte {
            b'0'..=b'9' => byte - b'0',
            _ => byte - b'A',
        };
        match place % 2 {
            0 => ODD[usize::from(value)],
            _ => u32::from(value),
        }
    };
    let sum: u32 = body.iter().enumerate().map(value).sum();
    u32::from(check - b'A') == sum % 26
}

/// The Netherlands' citizen service number: a weighted sum that 11 divides.
pub(super) fn has_dutch_check(number: &[u8]) -> bool {
    let digits = digits(number);
    let Some((last, body)) = digits.split_last() else {
        return false;
    };
    let sum: u32 = body
        .iter()
        .zip((2..=9).rev())
        .map(|(digit, weight)| digit * weight)
        .sum();
    digits.len() == 9 && sum > 0 && sum % 11 == *last
}

/// India's Aadhaar: Verhoeff's permutations.
pub(super) fn has_verhoeff_check(number: &[u8]) -> bool {
    const PRODUCT: [[usize; 10]; 10] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
        [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
        [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
        [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
        [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
        [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
        [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
        [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
        [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
    ];
    const STEP: [usize; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let permuted =
        |digit: u32, times: usize| (0..times % 8).fold(digit as usize, |digit, _| STEP[digit]);
    let digits = digits(number);
    let places = digits.iter().rev().enumerate();
    let check = places.fold(0, |check, (place, digit)| {
        PRODUCT[check][permuted(*digit, place)]
    });
    check == 0 && digits.first().is_some_and(|first| *first > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check accepts the number, and no number with another digit at one place.
    fn check(holds: fn(&[u8]) -> bool, number: &str) {
        assert!(holds(number.as_bytes()), "{number}");
        for place in 0..number.len() {
            let mut other = number.as_bytes().to_vec();
            if other[place].is_ascii_digit() {
                other[place] = b'0' + (other[place] - b'0' + 1) % 10;
                assert!(!holds(&other), "{}", String::from_utf8_lossy(&other));
            }
        }
    }

    #[test]
    fn numbers_hold_and_a_digit_more_or_less_is_noticed() {
        check(has_luhn_check, "4111 1111 1111 1111");
        check(has_luhn_check, "046 454 286");
        check(has_iban_check, "GB82 WEST 1234 5698 7654 32");
        check(has_iban_check, "DE89370400440532013000");
        check(has_german_check, "86095742719");
        check(has_french_check, "2 55 08 14 168 025 38");
        check(has_spanish_check, "12345678Z");
        check(has_spanish_check, "X1234567L");
        check(has_dutch_check, "111222333");
        check(has_verhoeff_check, "2341 2341 2346");
        assert!(has_italian_check(b"RSSMRA85T10A562S"));
        assert!(!has_italian_check(b"RSSMRA85T10A562T"));
    }
}
